-- Reserves units of one SKU for a batch of requests; all or nothing for each request.
-- KEYS: stock hash, held hash, ledger hash, deadlines sorted set, stream (one hash slot)
-- ARGV: epoch, now_ms, deadline_ms, then for each request: order id, user, quantity, request id
-- Returns {units left, one code a request}. Codes: see outcome.rs.
local HEADER, FIELDS = 3, 4
local count = (#ARGV - HEADER) / FIELDS
local now_ms, deadline_ms = tonumber(ARGV[2]), ARGV[3]

local stock = redis.call('HMGET', KEYS[1], 'available', 'gate', 'epoch', 'limit', 'starts_at_ms', 'ends_at_ms',
  'queue')
local available = tonumber(stock[1] or '0') or 0
local limit = tonumber(stock[4] or '0') or 0
local starts_at_ms, ends_at_ms = tonumber(stock[5] or '0') or 0, tonumber(stock[6] or '0') or 0

-- What is true of the whole batch is decided before any request is looked at.
local function answer_for_all()
  if not stock[2] then return 'unknown_sku' end
  if stock[3] ~= ARGV[1] then return 'stale_epoch' end
  if stock[2] ~= 'open' then return 'closed' end
  if now_ms < starts_at_ms then return 'not_started' end
  if ends_at_ms > 0 and now_ms >= ends_at_ms then return 'ended' end
  return nil
end

local reply = { available }
local verdict = answer_for_all()
if verdict then
  for i = 1, count do reply[i + 1] = verdict end
  return reply
end

local ids, users = {}, {}
for i = 1, count do
  local at = HEADER + (i - 1) * FIELDS
  ids[i], users[i] = ARGV[at + 1], ARGV[at + 2]
end
local entries = redis.call('HMGET', KEYS[3], unpack(ids))
local held_before = redis.call('HMGET', KEYS[2], unpack(users))

-- Two requests of one batch may share an order id or a user: later ones see what earlier ones did.
local state_of, held_of, ledger, held, deadlines, granted = {}, {}, {}, {}, {}, {}
for i = 1, count do
  if entries[i] then state_of[ids[i]] = string.match(entries[i], '^[^|]*') end
  held_of[users[i]] = tonumber(held_before[i] or '0') or 0
end

local function decide(i)
  local at = HEADER + (i - 1) * FIELDS
  local id, user, quantity = ids[i], users[i], tonumber(ARGV[at + 3])
  if not quantity or quantity < 1 or quantity ~= math.floor(quantity) then return 'invalid' end
  if state_of[id] == 'refused' then return 'refused' end
  if state_of[id] then return 'duplicate' end
  -- One live order for each user and SKU, as MySQL's unique key has it, and never beyond the limit.
  if held_of[user] > 0 or (limit > 0 and quantity > limit) then return 'limit_reached' end
  if available < quantity then return 'sold_out' end
  available = available - quantity
  held_of[user] = held_of[user] + quantity
  state_of[id] = 'reserved'
  local entry = 'reserved|' .. user .. '|' .. ARGV[at + 3] .. '|' .. deadline_ms .. '|' .. ARGV[at + 4]
  ledger[#ledger + 1] = id
  ledger[#ledger + 1] = entry
  held[#held + 1] = user
  deadlines[#deadlines + 1] = deadline_ms
  deadlines[#deadlines + 1] = id
  granted[#granted + 1] = at
  return 'granted'
end

for i = 1, count do reply[i + 1] = decide(i) end
reply[1] = available

if #ledger > 0 then
  local held_now = {}
  for _, user in ipairs(held) do
    held_now[#held_now + 1] = user
    held_now[#held_now + 1] = held_of[user]
  end
  redis.call('HSET', KEYS[1], 'available', available)
  redis.call('HSET', KEYS[3], unpack(ledger))
  redis.call('HSET', KEYS[2], unpack(held_now))
  redis.call('ZADD', KEYS[4], unpack(deadlines))
end

-- Where the sale goes by streams, the message is part of the reservation.
if stock[7] == 'stream' then
  for _, at in ipairs(granted) do
    redis.call('XADD', KEYS[5], '*', 'order_id', ARGV[at + 1], 'user', ARGV[at + 2], 'quantity', ARGV[at + 3],
      'request_id', ARGV[at + 4], 'at_ms', ARGV[2])
  end
end
return reply
