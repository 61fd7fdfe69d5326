-- Confirm: raise the counter to the token that we are about to carry. Both conditions hold up the proof that no
-- two grants share a token: while the lock holds our value no other grant was counted here after ours, and a
-- counter above the token tells of one that was.
local mine, other = ours()
if not mine then return reply(other) end
local n = counter()
if not n then return redis.error_reply(broken) end
local token = tonumber(ARGV[2])
if n > token then return reply('ahead', n) end
set_counter(token)
return reply('done', token)
