package nodeinit

// denied has bpf, perf_event_open, swapon, swapoff, acct, kexec_load, kexec_file_load; add_key,
// request_key, keyctl.
var denied = []calls{{arch: 0xc00000b7, machine: []uint32{280, 241, 224, 225, 89, 104, 294}, keys: []uint32{217, 218, 219}}}
