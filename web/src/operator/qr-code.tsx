import { useMemo } from 'preact/hooks'
import qrcode from 'qrcode-generator'

interface QrCodeProps {
  readonly text: string
  /** Description of the content, for example `QR code of the token`. */
  readonly label: string
}

/** Number of empty modules around a code. Readers need this space to find the code (ISO/IEC 18004). */
const quietZone = 4

/** A text as a QR code, black on white in both colour schemes, because many readers accept no other colours. */
export function QrCode({ text, label }: QrCodeProps) {
  const { path, size } = useMemo(() => draw(text), [text])
  return (
    <svg
      class="qr-code"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

function draw(text: string): { readonly path: string; readonly size: number } {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  const modules = code.getModuleCount()
  let path = ''
  for (let row = 0; row < modules; row++) {
    for (let column = 0; column < modules; column++) {
      if (code.isDark(row, column)) path += `M${column + quietZone} ${row + quietZone}h1v1h-1z`
    }
  }
  return { path, size: modules + 2 * quietZone }
}
