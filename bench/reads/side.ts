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
  /** @param onPart gets the answer, piece by piece */
  ask(question: Question, onPart: (part: Buffer) => void): Promise<Look>
  /** What an answer says, a row for each record or interval: its datetime in milliseconds, then the numbers asked for. */
  numbers(question: Question, answer: string): number[][]
  /** Writes so many records a second, of other keys, until it is stopped. */
  write(rate: number): Promise<Writing>
  close(): Promise<void>
}

export interface Look {
  /** From the question to the last byte of the answer, milliseconds. */
  readonly took: number
  /** Of it, in the database alone, without the way there and back; where that is known. */
  readonly inDatabase?: number
}

export interface Writing {
  /** Resolves when all is written. @returns how it went, in words */
  stop(): Promise<string>
}
