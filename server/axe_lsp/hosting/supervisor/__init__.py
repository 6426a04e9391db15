"""The supervisor of run hosts: it starts them, sends orders and ends them, in the language server or for one isolated run."""
