package org.apache.zookeeper.server.command;

import java.io.PrintWriter;
import org.apache.zookeeper.server.ServerCnxn;

/** Replaces the server's class of this name, whose answer is "imok". */
public class RuokCommand extends AbstractFourLetterCommand {
	public RuokCommand(PrintWriter out, ServerCnxn connection) {
		super(out, connection);
	}

	@Override
	public void commandRun() {
		pw.print("patched");
	}
}
