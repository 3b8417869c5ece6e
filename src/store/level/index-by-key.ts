import type { ClassicLevel } from 'classic-level'
import { isMagicKey } from '../../core/key.ts'
import { allResourceKeys, namesInThingKey, resourceByKeyKey } from './keys.ts'
import { scan } from './scan.ts'

/**
 * Makes what format 2 has and format 1 had not: the index of resources by key. Goes over what an earlier try has left
 * of it; the caller writes the new format behind it.
 */
export async function indexByKey(level: ClassicLevel<Buffer, Buffer>): Promise<void> {
  for await (const entries of scan({ level }, allResourceKeys)) {
    const batch = level.batch()
    for (const [name, number] of entries) {
      const { thingId, key } = namesInThingKey(name)
      if (!isMagicKey(key)) batch.put(resourceByKeyKey(key, thingId), number)
    }
    await batch.write()
  }
}
