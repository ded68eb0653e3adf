// Package mock is a CSI driver in memory. Kubernetes can provision, attach, stage, publish, expand,
// snapshot and delete volumes with it. It rejects every call that the CSI spec does not allow.
//
// It has no clock and no randomness, and starts no goroutine: equal calls in equal order give equal
// answers. A Driver is the storage system behind all instances; Controller and Node are the
// instances, called in process or registered on a grpc.Server. Misbehaviours make it break single
// promises. Tests can thus prove that a check detects them.
package mock
