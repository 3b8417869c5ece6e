import type { DriverLocks } from '../../src/store/contract.ts'
import type { Mutation } from './mutation.ts'

export const mutation: Mutation = {
  name: 'lock-not-compared',
  why: 'A store that takes what is done in the name of a lost lock lets a node that was paused undo what another has done.',
  mutate: driver => Object.assign(driver, { locks: notCompared() }),
}

function notCompared(): DriverLocks {
  const owners = new Map<string, string>()
  let taken = 0
  return {
    take: (name, ticket, from) => {
      const before = owners.get(name)
      if (from && before !== undefined && before !== from.owner) return void ticket.resolve(undefined)
      const owner = `node:${++taken}`
      owners.set(name, owner)
      ticket.resolve({ name, owner, before })
    },
    release: ({ name, owner }, ticket) => {
      if (owners.get(name) === owner) owners.delete(name)
      ticket.resolve(undefined)
    },
    onLost: () => () => {},
  }
}
