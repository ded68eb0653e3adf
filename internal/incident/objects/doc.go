// Package objects turns objects of Kubernetes into the lines of a trace: the output of kubectl get,
// Events, the tables of kubectl describe and kubectl get events, and audit logs.
package objects
