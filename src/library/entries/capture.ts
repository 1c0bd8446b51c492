// Capture is part of `svc-sandbox`; importing this entry point adds nothing.
export {};
