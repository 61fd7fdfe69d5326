-- Release: delete the lock if it is still ours. The counter stays: the next token must be larger.
local mine, other = ours()
if not mine then return reply(other) end
redis.call('DEL', KEYS[1])
return reply('done')
