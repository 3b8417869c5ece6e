import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Problem } from '../controls/problem.tsx'
import { useAction } from '../controls/use-action.ts'

interface ConfirmProps {
  /** The question, such as `Delete this code?` */
  readonly title: string
  /** What will happen, and that it cannot be undone. */
  readonly children: ComponentChildren
  /** The verb on the button, such as `Delete`. */
  readonly verb: string
  /** A text that has to be typed before confirming; undefined if none. */
  readonly typed?: string
  /** The confirmed action. The dialog closes when it succeeds. @throws ApiError, which is shown */
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
}

/** Asks before an action that cannot be undone. Escape means no. */
export function Confirm({ title, children, verb, typed, onConfirm, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const { isBusy, problem, run } = useAction()
  const id = useId()
  useEffect(() => dialog.current?.showModal(), [])

  function submit(event: Event): void {
    event.preventDefault()
    void run(async () => {
      await onConfirm()
      dialog.current?.close()
    })
  }

  return (
    <dialog ref={dialog} aria-labelledby={`${id}-title`} onClose={onClose}>
      <form onSubmit={submit}>
        <h3 id={`${id}-title`}>{title}</h3>
        {children}
        {typed !== undefined && (
          <label>
            <span>
              Type <strong>{typed}</strong> to confirm
            </span>
            <input
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              value={text}
              onInput={event => setText(event.currentTarget.value)}
            />
          </label>
        )}
        <Problem text={problem} />
        <div class="actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={isBusy || (typed !== undefined && text !== typed)}>
            {verb}
          </button>
        </div>
      </form>
    </dialog>
  )
}
