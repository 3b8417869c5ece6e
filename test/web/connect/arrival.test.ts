import { describe, expect, it } from 'vitest'
import { receivedText, refusedText } from '../../../web/src/thing/connect/arrival.ts'

const topic = 'things/mzxw6ytboi4dcmjs/values/temperature'

describe('receivedText()', () => {
  it('names what arrived', () => {
    expect(receivedText(topic, { key: 'temperature', value: 21.5 }, false)).toBe('Received: temperature 21.5')
  })

  it('says nothing of what was stored before, was deleted, or is no value', () => {
    expect(receivedText(topic, { value: 21.5 }, true)).toBeUndefined()
    expect(receivedText(topic, undefined, false)).toBeUndefined()
    expect(receivedText('things/mzxw6ytboi4dcmjs/date', [], false)).toBeUndefined()
  })

  it('cuts what does not fit on a line', () => {
    expect(receivedText(topic, { value: 'x'.repeat(500) }, false)?.length).toBeLessThan(120)
  })
})

describe('refusedText()', () => {
  const refused = { reason: 'invalid_record', message: 'The write was refused.' }

  it('gives the reason', () => {
    expect(refusedText(refused)).toBe('Refused: The write was refused. (invalid_record)')
  })

  it('gives that of the first fault where there is one', () => {
    const errors = [{ reason: 'invalid_key', message: 'key must be letters' }]
    expect(refusedText({ ...refused, errors })).toBe('Refused: key must be letters (invalid_key)')
  })
})
