-- Acquire: take the lock if it is free, and count the grant. Our own value already there means that this is
-- the same request once more (its first reply was lost): granted again, and nothing is counted twice.
local mine, other = ours()
if other == 'held' then return reply('held') end
local n = counter()
if not n then return redis.error_reply(broken) end
if mine then return reply('done', n) end

-- A proposal far in this master's future would use up numbers that later clocks could not exceed.
local now = redis.call('TIME')
local ceiling = (tonumber(now[1]) + 3600) * 1000000 + tonumber(now[2])
n = math.max(n + 1, math.min(tonumber(ARGV[2]), ceiling))
if n >= 2 ^ 53 then return redis.error_reply(broken) end

-- Everything that can fail is behind us: a script that stops half way would keep its first half.
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
set_counter(n)
return reply('done', n)
