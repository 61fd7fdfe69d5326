-- Extend: prolong the lease if the lock is still ours; never create it. The counter is kept alive as long as
-- the lock, and raised to our token where this master had not heard of it.
local mine, other = ours()
if not mine then return reply(other) end
local n = counter()
if not n then return redis.error_reply(broken) end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
n = math.max(n, tonumber(ARGV[2]))
set_counter(n)
return reply('done', n)
