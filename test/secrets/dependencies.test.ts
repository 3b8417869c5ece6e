import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>
}

describe('package-lock.json', () => {
  it('holds no ws below 8: one upgrade request with many headers ends a process with an older one', async () => {
    const text = await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8')
    const { packages } = JSON.parse(text) as Lock
    const copies = Object.entries(packages).filter(([path]) => /(^|\/)node_modules\/ws$/.test(path))
    expect(copies.length).toBeGreaterThan(0)
    const old = copies.filter(([, { version = '' }]) => !(Number(version.split('.')[0]) >= 8))
    expect(old).toEqual([])
  })
})
