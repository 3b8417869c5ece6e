/** Why something failed, told at once to who does not see it. */
export function Problem({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  )
}
