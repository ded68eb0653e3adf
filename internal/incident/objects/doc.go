// Package objects converts Kubernetes objects to lines of a trace. It reads the output of kubectl
// get, Events, the tables of kubectl describe and kubectl get events, and audit logs.
package objects
