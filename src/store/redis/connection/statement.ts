/** What an operator should know, as one line of text without secrets. */
export interface Statement {
  readonly level: 'info' | 'warn'
  readonly text: string
}
