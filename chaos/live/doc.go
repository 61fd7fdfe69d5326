// Package live runs lock clients against real Redis masters and injects faults into both.
//
// # Nodes
//
// A [Node] is a Redis master: a redis-server in a container, a redis-server process, a miniredis in this process, or one
// that somebody else runs. [Choose] says which it will be and why. A [Pool] starts them, and makes them as good as new
// between runs. Their methods are the faults; each proves that it took effect. Nodes of our own listen on 127.0.0.1 only
// and read no configuration file.
//
// What is guaranteed:
//   - A fault has taken effect when its method returns nil. Kill returns when the server is gone, Pause when it stands
//     still, StepClock when Redis TIME has moved. A fault that cannot be had here is an error that wraps
//     [ErrUnsupported], one that did nothing an error that wraps [ErrNoEffect].
//   - A node keeps its address, its clock and what its [Persistence] keeps, across Kill and Restart.
//   - What a Pool hands out has no keys, no scripts, the right time and no connection of a former run, whatever was done
//     to it before; a node of which that cannot be shown is closed, and another started.
//   - After Close nothing is left: no container, no process, no goroutine, no port, no file. On Linux the processes also
//     die when the harness is killed, and nowhere do they hear its Ctrl-C. A killed harness's containers go when the next
//     one starts its own.
//   - A master that somebody else runs loses every key that the run wrote, and no other.
//
// What is not:
//   - Kill is the death of a process, not the loss of power: what redis-server has written is in the kernel's hands and
//     stays. PowerLoss with appendfsync everysec is emulated: after a Kill the append-only file is cut back to what it was a
//     second before.
//   - A redis-server's clock is stepped, and made to drift, by a library that is preloaded into it (clocklib/clocklib.c).
//     That needs Linux and a C compiler, also for the servers in containers. It moves the wall clock, by which Redis
//     expires keys, and no other.
//   - Containers share this machine's network, so Docker needs Linux and an engine on this machine.
//   - An embedded node is paused by holding its connections, and evicts by deleting; both say that they are emulated. It has
//     no replica and no file to cut back, and only the commands and the INFO that miniredis has. Its keys, scripts and
//     TTLs, which run by its own clock, behave as those of Redis.
//   - Nothing can be done to a master that somebody else runs, and the scripts of locks stay in its cache.
//   - While a node is down nothing holds its port. Restart waits for whoever has taken it.
//
// # Network
//
// A [Proxy] is the network between one client and one node. Each client reaches each node through a proxy of its own, so
// that delay, loss and partition are per pair and direction. Its [Stats] prove that a fault took effect.
//
// It relays bytes, not packets. Lost bytes are lost together with their connection, where TCP would have sent them again;
// held bytes are what TCP delivers late.
package live
