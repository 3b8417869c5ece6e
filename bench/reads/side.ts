import type { Question } from './questions.ts'

/** Something that holds the rows and can be asked for them. */
export interface Side {
  readonly name: string
  readonly secondsToFill: number
  /** On disk. */
  readonly bytesPerRecord: number
  /** Starts a new process on what is kept. */
  open(): Promise<OpenSide>
  /** Removes what is kept. */
  remove(): Promise<void>
}

export interface OpenSide {
  /** @param onPart gets the answer, piece by piece @returns from the question to the last byte of the answer, milliseconds */
  ask(question: Question, onPart: (part: Buffer) => void): Promise<number>
  /** What an answer says, a row for each record or interval: its datetime in milliseconds, then the numbers asked for. */
  numbers(question: Question, answer: string): number[][]
  close(): Promise<void>
}
