import { expect, it } from 'vitest'
import { type Subscriber, Subscribers } from '../../src/live/subscribers.ts'

function subscriber(): Subscriber {
  return { deliver: () => {} }
}

it('each() tells everyone who is subscribed to the thing, or to every thing, once', () => {
  const subscribers = new Subscribers()
  const [one, two, both, every] = [subscriber(), subscriber(), subscriber(), subscriber()]
  subscribers.add('a', one)
  subscribers.add('a', one)
  subscribers.add('b', two)
  subscribers.add('a', both)
  subscribers.add(undefined, both)
  subscribers.add(undefined, every)
  const told = (thingId: string) => {
    const seen: Subscriber[] = []
    subscribers.each(thingId, subscriber => seen.push(subscriber))
    return seen
  }
  expect(told('a')).toEqual([one, both, every])
  expect(told('b')).toEqual([two, both, every])
  expect(told('c')).toEqual([both, every])
  subscribers.delete(undefined, both)
  expect(told('c')).toEqual([every])
  expect(told('a')).toEqual([one, both, every])
  subscribers.delete('a', one)
  subscribers.delete('a', both)
  subscribers.delete('a', both)
  subscribers.delete('c', two)
  expect(told('a')).toEqual([every])
  expect(told('b')).toEqual([two, every])
})

it('has() is whether anyone would be told', () => {
  const subscribers = new Subscribers()
  const one = subscriber()
  expect(subscribers.has('a')).toBe(false)
  subscribers.add('a', one)
  expect([subscribers.has('a'), subscribers.has('b')]).toEqual([true, false])
  subscribers.delete('a', one)
  expect(subscribers.has('a')).toBe(false)
  subscribers.add(undefined, one)
  expect([subscribers.has('a'), subscribers.has('b')]).toEqual([true, true])
  subscribers.delete(undefined, one)
  expect(subscribers.has('a')).toBe(false)
})

it('each() tells who is left, when one of them goes while it is told', () => {
  const subscribers = new Subscribers()
  const [one, two, three] = [subscriber(), subscriber(), subscriber()]
  for (const each of [one, two, three]) subscribers.add('a', each)
  const seen: Subscriber[] = []
  subscribers.each('a', each => {
    seen.push(each)
    subscribers.delete('a', one)
    subscribers.delete('a', two)
  })
  expect(seen).toEqual([one, three])
})
