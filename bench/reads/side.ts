import type { Question } from './questions.ts'

/** Something that holds the rows and can be asked for them. */
export interface Side<Opened = OpenSide> {
  readonly name: string
  /** Starts a new process on what is kept. */
  open(environment?: NodeJS.ProcessEnv): Promise<Opened>
  /** Removes what is kept. */
  remove(): Promise<void>
}

export interface OpenSide {
  /** @param onPart gets the answer, piece by piece @returns from the question to the last byte of the answer, milliseconds */
  ask(question: Question, onPart: (part: Buffer) => void): Promise<number>
  close(): Promise<void>
}

/** Runs the task on a new process of the side. */
export async function whileOpen<Opened extends OpenSide, Result>(
  side: Side<Opened>,
  task: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const opened = await side.open()
  try {
    return await task(opened)
  } finally {
    await opened.close()
  }
}

/** What an answer says, a row for each record or interval: its datetime in milliseconds, then the numbers asked for. */
export function numbersIn(question: Question, answer: string): number[][] {
  const names = question.kind === 'summaries' ? question.functions : ['value']
  if (answer.startsWith('[')) {
    const objects = JSON.parse(answer) as Record<string, string | number>[]
    return objects.map(object => [timeIn(object.datetime), ...names.map(name => Number(object[name]))])
  }
  const lines = answer.split(/\r?\n/).filter(line => line !== '')
  return lines.slice(question.kind === 'csv' ? 1 : 0).map(line => {
    const [time, ...columns] = line.split(',')
    return [timeIn(time), ...columns.slice(0, names.length).map(Number)]
  })
}

/** SQLite keeps milliseconds; the others answer with texts. */
function timeIn(time: string | number = ''): number {
  return Number.isNaN(Number(time)) ? Date.parse(String(time)) : Number(time)
}
