-- Repair: give the lock back to a master that lost it while a quorum still holds it, for what is left of the
-- lease, and teach it our token.
local mine, other = ours()
if other == 'held' then return reply('held') end
local n = counter()
if not n then return redis.error_reply(broken) end
if not mine then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3]) end
n = math.max(n, tonumber(ARGV[2]))
set_counter(n)
return reply('done', n)
