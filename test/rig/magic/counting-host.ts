import { serveAsHost } from '../../helpers/serve-as-host.ts'
import { counter } from './counter.ts'

await serveAsHost(counter)
