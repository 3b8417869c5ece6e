import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { markdownFiles } from './markdown.ts'

/**
 * TypeScript in README.md and docs/use: a program compiles against the types of the package; a piece of one
 * stands in an example, which is compiled and run.
 */

const blocks = markdownFiles()
  .filter(({ path }) => path === 'README.md' || path.startsWith('docs/use/'))
  .flatMap(({ path, blocks }) => blocks.map(block => ({ ...block, place: `${path}:${block.line}` })))
  .filter(({ language }) => language === 'ts')
const isProgram = ({ text }: { text: string }) => /^import /m.test(text)

test('programs of the documents compile', () => {
  expect(faultsIn(blocks.filter(isProgram))).toEqual([])
})

test('a program that does not compile is told of', () => {
  const text = "import { createMemoryStore, createThings } from 'thingwire'\n"
  const use = 'await createThings({ store: createMemoryStore(), adminKey })\n'
  expect(faultsIn([{ place: 'page.md:1', text: text + use }])).toEqual([
    expect.stringMatching(/^page\.md:1: .*'adminKey'/),
  ])
})

test('pieces of programs stand in the examples', () => {
  const examples = ts.sys.readDirectory('examples', ['.ts']).map(path => readFileSync(path, 'utf8'))
  const strange = blocks.filter(
    block => !isProgram(block) && !examples.some(text => text.includes(block.text)),
  )
  expect(strange.map(({ place }) => place)).toEqual([])
})

/** One line for each fault. Relative imports are those of a file beside the examples. */
function faultsIn(programs: readonly { readonly place: string; readonly text: string }[]): readonly string[] {
  const config = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, '.')
  const texts = new Map(programs.map(({ text }, index) => [resolve(`examples/program-${index}.ts`), text]))
  const places = new Map([...texts.keys()].map((file, index) => [file, programs[index]?.place]))
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = file => texts.has(file) || fileExists(file)
  host.readFile = file => texts.get(file) ?? readFile(file)
  host.getSourceFile = (file, target, ...rest) => {
    const text = texts.get(file)
    if (text === undefined) return getSourceFile(file, target, ...rest)
    return ts.createSourceFile(file, text, target)
  }
  const program = ts.createProgram([...texts.keys()], options, host)
  return [...texts.keys()].flatMap(file =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => `${places.get(file)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`),
  )
}
