import type { DriverHolds } from '../../src/store/contract.ts'
import type { Mutation } from './mutation.ts'

export const mutation: Mutation = {
  name: 'hold-not-compared',
  why: 'A store that takes what is done in the name of a lost hold lets a node that was paused undo what another has done.',
  mutate: driver => Object.assign(driver, { holds: notCompared() }),
}

function notCompared(): DriverHolds {
  const holders = new Map<string, string>()
  let taken = 0
  return {
    take: (name, ticket, from) => {
      const before = holders.get(name)
      if (from && before !== undefined && before !== from.holder) return void ticket.resolve(undefined)
      const holder = `node:${++taken}`
      holders.set(name, holder)
      ticket.resolve({ name, holder, before })
    },
    release: ({ name, holder }, ticket) => {
      if (holders.get(name) === holder) holders.delete(name)
      ticket.resolve(undefined)
    },
    onLost: () => () => {},
  }
}
