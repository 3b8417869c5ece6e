import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, it } from 'vitest'

/**
 * The compiler lets nobody name a member that is not in the published types of Aedes, unless a value of it is said to be something
 * else, or is taken apart by functions that ask for no type.
 */

const packages = /\/node_modules\/(aedes|aedes-[\w-]+|mqemitter|mqtt-packet)\//
const untyped = /^(Reflect\.\w+|Object\.(assign|define\w+|getOwn\w+|setPrototypeOf))$/

const { config } = ts.readConfigFile('tsconfig.json', path => readFileSync(path, 'utf8'))
const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, '.')

/** Where the code of files escapes the types of Aedes. */
function escapes(files: readonly string[], host?: ts.CompilerHost): string[] {
  const program = ts.createProgram({
    rootNames: files,
    options: { ...options, noEmit: true },
    ...(host && { host }),
  })
  const checker = program.getTypeChecker()
  const isAedes = (node: ts.Node) => {
    const type = checker.getTypeAtLocation(node)
    const parts = type.isUnionOrIntersection() ? type.types : [type]
    return parts.some(({ symbol, aliasSymbol }) =>
      [symbol, aliasSymbol].some(named =>
        named?.declarations?.some(declaration => packages.test(declaration.getSourceFile().fileName)),
      ),
    )
  }
  const found: string[] = []
  const look = (node: ts.Node, source: ts.SourceFile): void => {
    const isCast = ts.isAsExpression(node) && isAedes(node.expression)
    const isIndexed = ts.isElementAccessExpression(node) && isAedes(node.expression)
    const [first] = ts.isCallExpression(node) ? node.arguments : []
    const isUntyped =
      first && ts.isCallExpression(node) && untyped.test(node.expression.getText(source)) && isAedes(first)
    const isImport =
      ts.isImportDeclaration(node) &&
      /^'(aedes\/|aedes-|mqemitter|mqtt-packet\/)/.test(node.moduleSpecifier.getText(source))
    if (isCast || isIndexed || isUntyped || isImport) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
      found.push(`${source.fileName}:${line + 1} ${node.getText(source)}`)
    }
    node.forEachChild(child => look(child, source))
  }
  for (const file of files) {
    const source = program.getSourceFile(file)
    if (source) look(source, source)
  }
  return found
}

it('the source names nothing of Aedes and mqtt-packet that is not in their published types', () => {
  const files = fileNames.filter(name => /(^|\/)src\/(mqtt|server)\//.test(name))
  expect(files.length).toBeGreaterThan(50)
  expect(escapes(files)).toEqual([])
})

it('a source that does is found', () => {
  const source = `import type { Aedes, Client } from 'aedes'
import parser from 'mqtt-packet/parser.js'
export const used = (broker: Aedes, client: Client) => [
  (broker as unknown as { version: string }).version,
  Reflect.get(broker, 'persistence'),
  Object.assign(client, { _nextId: 1 }),
  client['conn'],
  parser,
  client.conn,
]
`
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists, getSourceFile } = host
  const file = 'src/mqtt/escaping.ts'
  host.fileExists = name => name === file || fileExists.call(host, name)
  host.readFile = name => (name === file ? source : readFile.call(host, name))
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true)
      : getSourceFile.call(host, name, ...rest)
  const found = escapes([file], host).map(each => each.replace(`${file}:`, ''))
  expect(found.map(each => Number.parseInt(each, 10))).toEqual([2, 4, 5, 6, 7])
})
