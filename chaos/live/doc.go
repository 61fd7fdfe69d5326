// Package live runs lock clients against real Redis masters and injects faults into both.
//
// # Nodes
//
// A [Node] is a Redis master that the harness owns: a redis-server process, or a miniredis in this process where there
// is no redis-server. [Choose] says which it will be and why. [StartNodes] starts them; each can be killed, restarted,
// paused, and have its wall clock stepped. Nodes listen on 127.0.0.1 only and read no configuration file.
//
// What is guaranteed:
//   - A fault has taken effect when its method returns nil. Kill returns when the process is gone, Pause when it stands
//     still, StepClock when Redis TIME has moved. A fault that cannot be had here is an error that wraps
//     [ErrUnsupported], one that did nothing an error that wraps [ErrNoEffect].
//   - A node keeps its address, its clock and what its [Persistence] keeps, across Kill and Restart.
//   - After Close nothing is left: no process, no goroutine, no port, no file. On Linux the processes also die when the
//     harness is killed, and nowhere do they hear its Ctrl-C.
//
// What is not:
//   - Kill is the death of a process, not the loss of power: what redis-server has written is in the kernel's hands and
//     stays. A lost fsync cannot be shown this way.
//   - A redis-server's clock is stepped by a library that is preloaded into it (clocklib/clocklib.c). That needs Linux
//     and a C compiler. It moves the wall clock, by which Redis expires keys, and no other.
//   - An embedded node cannot be paused, and has only the commands and the INFO that miniredis has. Its keys, scripts and
//     TTLs, which run by its own clock, behave as those of Redis.
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
