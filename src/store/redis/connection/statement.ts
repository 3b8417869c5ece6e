/** One line for the operator, without secrets. */
export interface Statement {
  readonly level: 'info' | 'warn'
  readonly text: string
}
