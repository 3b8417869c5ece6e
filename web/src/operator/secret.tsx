import { useEffect, useRef } from 'preact/hooks'
import { CopyButton } from '../copy-button.tsx'
import { connectHash } from '../route.ts'
import type { ReachProblem } from '../thing/connect/host.ts'
import { ReachNotice } from '../thing/connect/reach-notice.tsx'
import { QrCode } from './qr-code.tsx'

export interface SecretProps {
  /** What it is, such as `Token of pump 3`. */
  readonly title: string
  readonly text: string
  /** Of a session: the address that opens the page signed in. The QR code holds it in place of the text. */
  readonly link?: string
  /** Why the link may lead nowhere on another device. */
  readonly linkProblem?: ReachProblem | undefined
  /** Of a token: the thing that a device writes as with it. */
  readonly thingId?: string
  readonly onDone: () => void
}

/** A secret that the server shows only now, until the operator has kept it. */
export function Secret({ title, text, link, linkProblem, thingId, onDone }: SecretProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <div class="secret">
      <h3 ref={heading} tabIndex={-1}>
        {title}
      </h3>
      <QrCode text={link ?? text} label={`QR code: ${title}`} />
      <div class="secret-text">
        <p>Keep it now. It is shown only once. Nobody can look it up later.</p>
        {link !== undefined && (
          <>
            <p>This link opens the page signed in:</p>
            <code>{link}</code>
            <ReachNotice problem={linkProblem} />
            <p>Programs take the token alone:</p>
          </>
        )}
        <code>{text}</code>
        <div class="actions">
          {link !== undefined && <CopyButton text={link} label="Copy link" />}
          <CopyButton text={text} {...(link !== undefined && { label: 'Copy token' })} />
          {thingId !== undefined && (
            <a class="button" href={connectHash(thingId)}>
              Connect your device
            </a>
          )}
          <button type="button" onClick={onDone}>
            Done
          </button>
        </div>
      </div>
    </div>
  )
}
