import { describe, expect, it } from 'vitest'
import { parsePage } from './page.ts'

/** In the pages below `~~~` stands for the three back-ticks of a fence. */
const parse = (text: string, path = 'docs/use/page.md') => parsePage(path, text.replaceAll('~~~', '```'))
const stepsOf = (text: string) => parse(text).sections.flatMap(({ steps }) => steps)

describe('parsePage()', () => {
  it('takes the commands of a page, each with the answer behind it', () => {
    expect(stepsOf('# Title\n\n~~~sh\nls\n~~~\n\n~~~\na\nb\n~~~\n\nText\n\n~~~sh\npwd\n~~~\n')).toEqual([
      {
        kind: 'run',
        line: 3,
        commands: 'ls\n',
        terminal: '',
        exitStatus: 0,
        answer: { line: 7, lines: ['a', 'b'] },
      },
      { kind: 'run', line: 14, commands: 'pwd\n', terminal: '', exitStatus: 0 },
    ])
  })

  it('takes no other block', () => {
    const text = '~~~json\n{}\n~~~\n\n~~~\na picture\n~~~\n\n~~~sh\nls\n~~~\n\nText\n\n~~~\na picture\n~~~\n'
    expect(stepsOf(text)).toMatchObject([{ kind: 'run', commands: 'ls\n' }])
    expect(parse('~~~\na picture\n~~~\n').sections).toEqual([])
  })

  it('takes a block in a list without its indentation', () => {
    expect(stepsOf('1. Do\n   ~~~sh\n   ls |\n     wc\n   ~~~\n')).toMatchObject([
      { commands: 'ls |\n  wc\n' },
    ])
  })

  it('follows the comments above blocks', () => {
    const text = [
      '<!-- terminal: tail -->',
      '~~~sh\nthingwire tail\n~~~',
      '<!-- exits with: 3 -->',
      '~~~sh\nthingwire things\n~~~',
      '<!-- terminal: tail -->',
      '~~~\n…\n~~~',
      'Put this into `conf/a.json`:\n\n<!-- file: conf/a.json -->',
      '~~~json\n{}\n~~~',
      '<!-- not run: needs Docker -->',
      '~~~sh\ndocker compose up\n~~~',
      '~~~\nup\n~~~',
    ]
    expect(stepsOf(text.join('\n\n'))).toMatchObject([
      { kind: 'run', terminal: 'tail', commands: 'thingwire tail\n' },
      { kind: 'run', terminal: '', exitStatus: 3 },
      { kind: 'answer', terminal: 'tail', lines: ['…'] },
      { kind: 'file', path: 'conf/a.json', content: '{}\n' },
      { kind: 'left', reason: 'needs Docker' },
    ])
  })

  it('begins a section, with new shells, at each place', () => {
    const text = [
      '<!-- needs: nginx-light jq -->\n<!-- begins with: a server -->',
      '~~~sh\nls\n~~~',
      '<!-- place: tarball -->',
      '~~~sh\npwd\n~~~',
    ]
    expect(parse(text.join('\n\n')).sections).toMatchObject([
      {
        place: 'package',
        beginsWithServer: true,
        needs: ['nginx-light', 'jq'],
        steps: [{ commands: 'ls\n' }],
      },
      { place: 'tarball', beginsWithServer: false, needs: [], steps: [{ commands: 'pwd\n' }] },
    ])
  })

  it.each([
    ['README.md', 'repository'],
    ['CONTRIBUTING.md', 'repository'],
    ['examples/host/README.md', 'repository'],
    ['docs/use/devices.md', 'package'],
    ['SECURITY.md', 'package'],
  ])('begins %s in the place %s', (path, place) => {
    expect(parse('~~~sh\nls\n~~~\n', path).sections).toMatchObject([{ place }])
  })

  it.each([
    ['~~~sh\nls\n', 'docs/use/page.md:1: the block has no end'],
    ['<!-- todo -->\n', ':1: unknown comment'],
    ['<!-- terminal: a -->\nText\n', ':2: a comment has to stand directly above its block'],
    ['<!-- terminal: a -->\n', ':2: a comment has no block below it'],
    ['<!-- terminal: a -->\n~~~sh\nls\n~~~\n', ':2: nothing shows what the last terminal'],
    ['<!-- file: a -->\n~~~sh\nls\n~~~\n', ':2: commands are no file'],
    ['Text\n<!-- file: a.js -->\n~~~js\n~~~\n', ':3: the text above does not name a.js'],
    ['a\n<!-- file: ../a -->\n~~~js\n~~~\n', ':3: ../a is outside'],
    [
      '<!-- exits with: 1 -->\n~~~json\n{}\n~~~\n',
      ':2: a comment steers a block that is not run: exits with',
    ],
    ['<!-- place: moon -->\n', ':1: a place is one of'],
    ['~~~sh\nls\n~~~\n<!-- needs: jq -->\n', ':4: needs has to stand above the first block'],
  ])('refuses %j', (text, message) => {
    expect(() => parse(text)).toThrow(message)
  })
})
