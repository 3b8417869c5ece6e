import type { AedesOptions } from 'aedes'

/** Maximum time from the connection to CONNECT, milliseconds. HTTP waits just as long for the head of a request. */
export const connectTimeout = 30_000

/** Refuses every client with CONNACK 3 while the MQTT door is not attached to the broker. */
const refuseAll: NonNullable<AedesOptions['authenticate']> = (_client, _username, _password, done) => {
  done(Object.assign(new Error('stopping'), { returnCode: 3 }), false)
}

/** Options for a broker that no host shares. */
export const ownBrokerOptions: AedesOptions = { connectTimeout, authenticate: refuseAll }
