import { useEffect, useState } from 'preact/hooks'

interface CopyButtonProps {
  readonly text: string
  /** Default: `Copy`. */
  readonly label?: string
}

/** Copies a text. For a moment, shows whether the text could be copied. */
export function CopyButton({ text, label = 'Copy' }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 3_000)
    return () => clearTimeout(timer)
  }, [state])
  return (
    <button
      type="button"
      aria-live="polite"
      onClick={async event => {
        // Read before the `await`: after the event, `currentTarget` is null.
        const beside = event.currentTarget
        setState((await copy(text, beside)) ? 'copied' : 'failed')
      }}
    >
      {state === 'idle' ? label : state === 'copied' ? 'Copied' : 'Select and copy it by hand'}
    </button>
  )
}

async function copy(text: string, beside: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Browsers do not let a page use the clipboard if it was loaded over plain http from another machine.
    return copyFromField(text, beside)
  }
}

function copyFromField(text: string, beside: HTMLElement): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.style.position = 'fixed'
  field.style.opacity = '0'
  // While a dialog is open, only elements inside the dialog can have the focus.
  beside.parentElement?.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  beside.focus()
  return isCopied
}
