import type { Snippet } from '../snippet.ts'

export const mosquitto: Snippet = {
  name: 'mosquitto_pub',
  needs: 'Package mosquitto-clients.',
  delivery:
    'QoS 1 (-q 1): it ends when the server has stored the write, or refused it for good: then only the thing’s page says so, and why. The datetime makes a resend harmless: the same record is stored once.',
  tls: 'Add --tls-use-os-certs, or --cafile with the certificate of your own authority.',
  text: ({ host, mqttPort, token }) =>
    `mosquitto_pub -h '${host}' -p ${mqttPort} -q 1 -u '${token}' -t 'things/${token}/write' \\
  -m '{"values":[{"key":"temperature","value":21.5,"datetime":"'$(date -u +%Y%m%d%H%M%S)'"}]}'
`,
}
