import { describe, expect, it } from 'vitest'
import type { Thing } from '../helpers/http-client.ts'
import { ask } from '../helpers/http-client.ts'
import { nodesOfTests } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

// Each token that another device's activation has ended counts as one.
const cluster = nodesOfTests(2, { environment: { THINGWIRE_FAILED_CREDENTIALS_PER_MINUTE: '10000' } })

async function newCode(uses: number): Promise<string> {
  const made = await ask(cluster.node(0), 'POST', '/v2/admin/activation-codes', { uses })
  const [code] = made.activationCodes as [string]
  return code
}

/** @returns undefined: the code is spent */
async function activate(node: ServerProcess, activationCode: string): Promise<Thing | undefined> {
  const body = JSON.stringify({ activationCode })
  const response = await fetch(`${node.url}/v2/things`, { method: 'POST', body })
  const answer = await response.json()
  if (response.status === 401) return undefined
  expect(response.status).toBe(201)
  return answer as Thing
}

/** Whether the node takes the token. */
async function use(node: ServerProcess, { thingToken }: Thing): Promise<boolean> {
  const { status } = await fetch(`${node.url}/v2/things/${thingToken}/resources`)
  expect([200, 401]).toContain(status)
  return status === 200
}

describe('an activation code', () => {
  it('answers at one node again what got lost at the other, and ends the token that nobody has used', async () => {
    const [one, other] = [cluster.node(0), cluster.node(1)]
    const code = await newCode(1)
    const lost = await activate(one, code)
    const thing = await activate(other, code)
    expect(thing?.thingId).toBe(lost?.thingId)
    if (!lost || !thing) return
    for (const node of cluster.nodes) expect(await use(node, lost)).toBe(false)
    for (const node of cluster.nodes) expect(await use(node, thing)).toBe(true)
    for (const node of cluster.nodes) expect(await activate(node, code)).toBeUndefined()
  })

  it('makes as many things as it has uses, however many ask at both nodes at once', async () => {
    const uses = 5
    const code = await newCode(uses)
    const activated = new Set<string>()
    // Devices that ask until they have a token that is taken, or the code is spent.
    const devices = Array.from({ length: 12 }, async (_, index) => {
      const [asked, used] = [cluster.node(index % 2), cluster.node((index >> 1) % 2)]
      for (;;) {
        const thing = await activate(asked, code)
        if (!thing) return
        if (!(await use(used, thing))) continue
        activated.add(thing.thingId)
        return
      }
    })
    await Promise.all(devices)
    expect(activated.size).toBe(uses)
    for (const node of cluster.nodes) expect(await activate(node, code)).toBeUndefined()
    const { activationCodes } = await ask(cluster.node(0), 'GET', '/v2/admin/activation-codes')
    expect(activationCodes).toEqual([])
  })
})
