// Package kernel runs the simulated control plane: cooperative processes in virtual time, one at a
// time.
//
// A process is plain sequential Go that gives way only where it touches the world: when it sleeps,
// waits, writes to the API, calls a driver or changes the node's file system. Because exactly one
// process runs at a time, nothing in a simulated component needs a lock. Because one Strategy takes
// every decision that is left to chance in the real world, a run is a function of its scenario,
// strategy and seed.
//
// A process that gives way has its own stack. Half of all steps belong to informers, which pass on
// changes and never yield: such a process reacts (Process.React) on the stack of the kernel.
package kernel
