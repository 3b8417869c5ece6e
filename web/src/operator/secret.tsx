import { useEffect, useRef } from 'preact/hooks'
import { CopyButton } from '../controls/copy-button.tsx'
import { connectHash } from '../route.ts'
import type { ReachProblem } from '../thing/connect/host.ts'
import { ReachNotice } from '../thing/connect/reach-notice.tsx'
import { QrCode } from './qr-code.tsx'

export interface SecretProps {
  /** Name of the secret, for example `Token of pump 3`. */
  readonly title: string
  readonly text: string
  /** For a session: the address that opens the page signed in. The QR code contains the link instead of the text. */
  readonly link?: string
  /** Why the link may not work on another device. */
  readonly linkProblem?: ReachProblem | undefined
  /** For a token: the thing that the token belongs to. */
  readonly thingId?: string
  readonly onDone: () => void
}

/** A new secret. Shown only once, until the operator closes it. */
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
