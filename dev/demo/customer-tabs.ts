import type { GraphiqlTab } from '../../src/transport/graphiql-page.ts';

/**
 * What GraphiQL opens with, for a customer of the demo tenant: each runs as it is. The keys are fixed, so pressing the button
 * again shows a replay; that is the point, and the comments say so.
 *
 * @param origin where the page is, and where the customer comes back to from a payment page
 */
export function customerTabs(origin: string, token: string): readonly GraphiqlTab[] {
  const page = `${origin}/graphql`;
  const topUpTab = topUp(page, origin.replace(/^https?:\/\//, ''));
  return [OPEN_ORDER, topUpTab, PAYMENT_CODE, WALLET, ORDERS].map((query) => ({ query, token }));
}

const OPEN_ORDER = `# Opens an order: the server knows what a coffee costs.
# Run it twice: the same key gets the same order, and "replayed" says so. Change the key for another one.
mutation OpenOrder {
  createOrder(
    idempotencyKey: "graphiql-open-order-1"
    input: { merchantId: "cafe", items: [{ sku: "coffee", quantity: 1 }] }
  ) {
    __typename
    ... on CreateOrderSuccess {
      replayed
      order {
        id
        state
        amount
        currency
        payableWith
      }
    }
    ... on Failure {
      message
      retry
    }
  }
}
`;

function topUp(page: string, host: string): string {
  return `# Tops the wallet up by card: open paymentPage.url, pay there, and look at the wallet again.
# The same key again gets the same order and page, not a second one.
mutation TopUp {
  topUp(
    idempotencyKey: "graphiql-top-up-1-${host}"
    input: {
      amount: "1000"
      method: CHECKOUT
      successUrl: "${page}"
      cancelUrl: "${page}"
    }
  ) {
    __typename
    ... on TopUpSuccess {
      replayed
      order {
        id
        state
        paymentPage {
          url
          expiresAt
        }
      }
      balance {
        amount
      }
    }
    ... on Failure {
      message
      retry
    }
  }
}
`;
}

const PAYMENT_CODE = `# A code that a terminal scans within five minutes: the customer's consent to pay there.
mutation ShowCode {
  issuePaymentCode {
    code
    expiresAt
  }
}
`;

const WALLET = `# Who the token speaks for, and the wallet as it stands now.
query Me {
  viewer {
    subject
    role
    wallet {
      balances {
        asset
        amount
        cap
      }
      entries(first: 5) {
        edges {
          node {
            operation
            at
            changes {
              asset
              amount
            }
          }
        }
      }
    }
  }
}
`;

const ORDERS = `# The newest orders. To pay one from the wallet, send its id to "charge" with a key of your own.
query Orders {
  orders(first: 10) {
    edges {
      node {
        id
        state
        amount
        currency
        payableWith
        createdAt
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`;
