"""What starts run hosts, gives them orders and ends them: in the language server, or for one isolated run."""
