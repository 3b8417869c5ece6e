/** One line of text for the operator, without secrets. */
export interface Statement {
  readonly level: 'info' | 'warn'
  readonly text: string
}
