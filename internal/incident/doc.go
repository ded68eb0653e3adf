// Package incident turns the logs of a real incident into a trace.
//
//   - lines reads files, folders and archives, and finds the form of each line;
//   - messages recognizes the messages of programs, one file a program;
//   - calls finds the calls of drivers in them;
//   - objects reads objects, Events and audit logs, and fields reads their values;
//   - timeline sorts all facts, and writes the trace.
//
// This package passes the lines through these parts. Package explain finds in the trace the volumes
// that are stuck, and package reenact writes a scenario that plays it.
package incident
