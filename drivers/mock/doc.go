// Package mock is a CSI driver that lives in memory: real enough that Kubernetes can provision,
// attach, stage, publish, expand, snapshot and delete volumes with it, and strict enough that it
// refuses every call which the CSI spec does not allow.
//
// It has no clock, no randomness and starts no goroutine: equal calls in equal order give equal
// answers. A Driver is the storage system behind all instances; Controller and Node are the
// instances, called in process or registered on a grpc.Server. Misbehaviours make it break single
// promises, so that the checks of a test can be seen to fire.
package mock
