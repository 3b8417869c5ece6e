import { describe, expect, it } from 'vitest'
import { isAnswer } from './answer.ts'

const lines = (text: string) => text.split('\n')
const answers = (shown: string, said: string, others = '', isOrdered = true) =>
  isAnswer(lines(shown), said === '' ? [] : lines(said), others === '' ? [] : lines(others), isOrdered)

describe('isAnswer()', () => {
  it.each([
    ['a\nb', 'a\nb'],
    ['a {"x":1}', 'a {"x":1}  '],
    ['a … c', 'a b c'],
    ['a ... c', 'a b c'],
    ['…"x":1…', '{"x":1}'],
    ['…', 'a\nb\nc'],
    ['…', ''],
    ['…\nb\n…', 'a\na\nb\nc'],
    ['a\n…\nc', 'a\nb\nc\nb\nc'],
    ['a\n…\nc', 'a\nc'],
    ['a\n\nb', '\na\n\nb\n\n'],
    ['…\nb', 'a\nb\n{"level":30,"msg":"c"}'],
    ['…\n{"level":30,"msg":"c"}', 'a\n{"level":30,"msg":"c"}'],
  ])('takes for %j what is said as %j', (shown, said) => {
    expect(answers(shown, said)).toBe(true)
  })

  it.each([
    ['a\nb', 'a'],
    ['a', 'a\nb'],
    ['a', ''],
    ['b\na', 'a\nb'],
    ['a.c', 'abc'],
    ['a', 'ab'],
    ['a\n…\nc', 'a\nb\nc\nd'],
    ['…\nb', 'a\nc'],
    ['b', 'b\n{"level":30,"msg":"c"}'],
    ['…\nb\n{"level":30,"msg":"c"}', 'a\nb'],
  ])('does not take for %j what is said as %j', (shown, said) => {
    expect(answers(shown, said)).toBe(false)
  })

  it('takes lines of programs in the background, and asks for none of them', () => {
    expect(answers('heard\nanswer', 'answer', 'heard\nmore')).toBe(true)
    expect(answers('answer', 'answer', 'heard')).toBe(true)
    expect(answers('heard\nheard', '', 'heard')).toBe(false)
    expect(answers('heard', 'answer', 'heard')).toBe(false)
  })

  it('can leave the order open', () => {
    expect(answers('heard\nanswer', 'answer\nheard', '', false)).toBe(true)
    expect(answers('heard\nanswer', 'answer\nheard\nmore', '', false)).toBe(false)
    expect(answers('heard\n…', 'answer\nheard\nmore', '', false)).toBe(true)
    expect(answers('heard', 'answer', '', false)).toBe(false)
  })
})
