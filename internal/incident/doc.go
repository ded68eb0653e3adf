// Package incident turns the logs of a real incident into a trace.
//
//   - lines reads files, folders and archives, and finds the form of each line;
//   - messages recognizes the messages of programs, with one file for each program;
//   - calls finds the calls of drivers in them;
//   - objects reads objects, Events and audit logs, and fields reads their values;
//   - timeline sorts all facts, and writes the trace.
//
// This package passes the lines through these parts. Package explain finds the stuck volumes in the
// trace, and package reenact writes a scenario that reproduces it.
package incident
