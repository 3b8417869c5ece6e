-- What wrk sends, and says when it is done: `wrk -s wrk.lua <url> -- post <body>` to the url, or
-- `wrk -s wrk.lua <url> -- get <path> <path> ...`, one path behind another.

function init(arguments)
  if arguments[1] == "get" then
    ask(arguments)
  else
    wrk.method = "POST"
    wrk.headers["Content-Type"] = "application/json"
    wrk.body = arguments[2]
  end
end

function ask(arguments)
  local requests = {}
  for place = 2, #arguments do
    table.insert(requests, wrk.format("GET", arguments[place]))
  end
  local asked = 0
  function request()
    asked = asked + 1
    return requests[asked % #requests + 1]
  end
end

function done(summary)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format('{"done":%d,"microseconds":%d,"failed":%d}', summary.requests, summary.duration, failed))
end
