import type { AedesOptions } from 'aedes'

/** From the connection to its CONNECT, milliseconds: as long as HTTP waits for the head of a request. */
export const connectTimeout = 30_000

/** The broker without Thingwire, as it is once the door is detached, lets nobody in (CONNACK 3). */
const refuseAll: NonNullable<AedesOptions['authenticate']> = (_client, _username, _password, done) => {
  done(Object.assign(new Error('stopping'), { returnCode: 3 }), false)
}

/** Of a broker that has the clients of things alone. */
export const ownBrokerOptions: AedesOptions = { connectTimeout, authenticate: refuseAll }
