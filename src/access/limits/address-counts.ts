import { addressKey, isLoopback } from './address-key.ts'
import { BoundedCounts } from './bounded-counts.ts'

/** Connections that are open, by address; those of the machine itself are not counted (contract §9). */
export class AddressCounts extends BoundedCounts {
  override enter(address: string): (() => void) | undefined {
    return isLoopback(address) ? () => {} : super.enter(addressKey(address))
  }
}
