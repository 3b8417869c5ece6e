/** Why something failed, announced at once to screen readers. */
export function Problem({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  )
}
