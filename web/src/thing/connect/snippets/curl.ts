import type { Snippet } from '../snippet.ts'

export const curl: Snippet = {
  name: 'curl',
  needs: 'Any shell with curl 7.76 or newer. A device that speaks only HTTP sends the same request.',
  delivery:
    'HTTP 201 means that the reading is stored. HTTP 401 and 404 mean that the token in the address is wrong. --retry may send the reading twice. It has a datetime, so the server stores it once.',
  text: ({ httpUrl, token }) =>
    `curl -sS --fail-with-body --retry 5 --retry-connrefused '${httpUrl}/v2/things/${token}' \\
  -d '{"values":[{"key":"temperature","value":21.5,"datetime":"'$(date -u +%Y%m%d%H%M%S)'"}]}' \\
  -w ' HTTP %{http_code}\\n'
`,
}
