import { listDocuments } from '../../core/list-documents.ts'
import type { DocumentStore } from '../../core/ports.ts'
import { createSecret } from '../../core/token.ts'
import { ThingwireError } from '../../errors.ts'
import type { ActivationCodes } from '../access.ts'
import {
  type ActivationCodeDocument,
  activationCodeName,
  activationCodePrefix,
  type ThingDocument,
  thingName,
  tokenName,
  withoutLast,
} from '../documents.ts'
import { issueToken } from '../tokens.ts'
import { newThing } from './thing-registry.ts'

const codeForm = /^[A-Za-z0-9_-]{34}$/
const maximumCount = 1_000
const maximumUses = 1_000_000

type Activation = Awaited<ReturnType<ActivationCodes['activate']>>
type Last = NonNullable<ActivationCodeDocument['last']>

/**
 * Until a thing has used its token, each activation with its code returns the same thing, with a new token that replaces the unused
 * token. So a lost answer locks no device out and costs no use of the code. Once the token is used, the next activation makes
 * another thing. Devices that share a code must be activated one after another, or activate again when their token is refused.
 */
export function createActivationCodes(documents: DocumentStore): ActivationCodes {
  return {
    async create({ count, uses }) {
      assertWhole('count', count, maximumCount)
      assertWhole('uses', uses, maximumUses)
      const codes = Array.from({ length: count }, () => createSecret(26).slice(0, 34))
      const document: ActivationCodeDocument = { createdAt: Date.now(), usesLeft: uses }
      const put = Object.fromEntries(codes.map(code => [activationCodeName(code), document]))
      await documents.transact(Object.keys(put), () => ({ put, result: undefined, purpose: 'register' }))
      return codes
    },

    async list() {
      const codes = []
      const all = listDocuments<ActivationCodeDocument>(documents, activationCodePrefix)
      for await (const [activationCode, { createdAt, usesLeft }] of all) {
        codes.push({ activationCode, createdAt, usesLeft })
      }
      return codes.sort((a, b) => a.createdAt - b.createdAt)
    },

    async remove(code) {
      const removed = codeForm.test(code) && (await removeDocument(code))
      if (!removed) throw new ThingwireError('not_found', 'there is no such activation code')
    },

    async activate(code) {
      if (!codeForm.test(code)) throw new ThingwireError('unknown_activation_code')
      for (;;) {
        const document = (await documents.get(activationCodeName(code))) as ActivationCodeDocument | undefined
        if (!document) throw new ThingwireError('unknown_activation_code')
        const { last } = document
        // If undefined, the code has changed since it was read: try again.
        const activation = last ? await answerAgain(code, last) : await takeUse(code)
        if (activation) return activation
      }
    },
  }

  async function removeDocument(code: string): Promise<boolean> {
    const name = activationCodeName(code)
    return await documents.transact([name], ([document]) => ({
      put: document ? { [name]: null } : {},
      result: document !== undefined,
      purpose: 'essential',
    }))
  }

  async function takeUse(code: string): Promise<Activation | undefined> {
    const name = activationCodeName(code)
    const { thingId, token, put } = newThing('', { activationCode: code })
    return await documents.transact([name], ([document]) => {
      const { usesLeft, last } = (document ?? { usesLeft: 0 }) as ActivationCodeDocument
      if (usesLeft === 0 || last) return { put: {}, result: undefined, purpose: 'register' }
      const taken = { ...document, usesLeft: usesLeft - 1, last: { thingId, hash: token.entry.hash } }
      return {
        put: { ...put, [name]: taken },
        result: { thingId, thingToken: token.thingToken },
        purpose: 'register',
      }
    })
  }

  async function answerAgain(code: string, last: Last): Promise<Activation | undefined> {
    const { thingId, hash } = last
    const name = activationCodeName(code)
    const fresh = issueToken(thingId, code)
    const names = [name, thingName(thingId), tokenName(hash)]
    return await documents.transact(names, ([document, thing, token]) => {
      const present = document as ActivationCodeDocument | undefined
      if (present?.last?.hash !== hash) return { put: {}, result: undefined, purpose: 'register' }
      // The operator has removed the token or the thing. The code must not undo that.
      if (!thing || !token)
        return { put: { [name]: withoutLast(present) }, result: undefined, purpose: 'register' }
      const { tokens } = thing as ThingDocument
      const put = {
        [name]: { ...document, last: { thingId, hash: fresh.entry.hash } },
        [thingName(thingId)]: {
          ...thing,
          tokens: tokens.map(entry => (entry.hash === hash ? fresh.entry : entry)),
        },
        // No cache has to forget the token, since it was never used.
        [tokenName(hash)]: null,
        ...fresh.put,
      }
      return { put, result: { thingId, thingToken: fresh.thingToken }, purpose: 'register' }
    })
  }
}

function assertWhole(field: string, value: number, maximum: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= maximum) return
  throw new ThingwireError('invalid_body', `${field} must be a whole number from 1 to ${maximum}`)
}

/** The answer to an activation as JSON text (contract §6). */
export function activationText(activation: Awaited<ReturnType<ActivationCodes['activate']>>): string {
  const { thingToken, thingId } = activation
  return JSON.stringify({ status: 'created', message: 'thing activated', thingToken, thingId })
}
