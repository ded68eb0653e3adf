// Package kernel runs the simulated control plane as cooperative processes in virtual time, one at
// a time.
//
// A process is plain sequential Go that yields only where it touches the world: when it sleeps,
// waits, writes to the API, calls a driver or changes the node's file system. Exactly one process
// runs at a time, so nothing in a simulated component needs a lock. One Strategy takes every
// decision that is random in the real world, so a run is a function of its scenario, strategy and
// seed.
//
// A process that yields has its own stack. Half of all steps belong to informers, which pass on
// changes and never yield. Such a process reacts (Process.React) on the stack of the kernel.
package kernel
